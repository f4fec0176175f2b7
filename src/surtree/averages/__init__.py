"""Averages over trees, and the trees and score cards that come nearest to them."""
