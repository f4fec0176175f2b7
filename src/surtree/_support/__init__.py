"""What every room needs: types, exact sums, checks, files, parallel work."""
