"""The demo: everything, from archives to the leaderboard, on drawn images and in minutes."""
