package host

// instructions names the vector instructions that every 64-bit Arm processor has.
func instructions() string { return "neon" }
