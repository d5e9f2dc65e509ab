package problem

// Scaled is scaled, for tests.
var Scaled = scaled
