"""What results look like to a reader: tables for the terminal, and the report page."""
