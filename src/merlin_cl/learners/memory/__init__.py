"""The bounded memory of examples that methods share: what it holds, and how it chooses."""
