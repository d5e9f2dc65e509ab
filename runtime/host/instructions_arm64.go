package host

// instructions are those of all 64-bit Arm processors.
func instructions() string { return "neon" }
