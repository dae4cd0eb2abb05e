"""What every layer may use: errors, time, days, positions. Nothing here does I/O."""
