package host

// instructionSet names the vector instructions that every 64-bit Arm processor has.
func instructionSet() string { return "neon" }
