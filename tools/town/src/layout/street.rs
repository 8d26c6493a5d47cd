//! What stands and moves in the streets.
