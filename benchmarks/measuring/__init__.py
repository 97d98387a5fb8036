"""What measures. Cells are kept as long as nothing here and nothing that is measured changes."""
