"""What the speed claims rest on: single-threaded, everything compared within one run, ratios first."""
