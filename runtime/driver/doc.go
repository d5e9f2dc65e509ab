// Package driver is the NVIDIA GPU behind runtime/device's interfaces, through
// gorgonia.org/cu and the CUDA driver API. Everything in it needs the build
// tag cuda; it is the one room that imports cu or uses cgo, because a program
// that links cu starts only where the driver's library is.
//
// Every method locks its goroutine to an OS thread, makes the device's context
// current there and calls cu's error-returning functions: about 0.2 µs beside
// what the driver itself takes, with no hand-over to another goroutine. The
// methods of cu's Ctx, which lose errors, are not used.
//
// Building it takes the environment that scripts/toolkit --print-env prints:
// the folder include, whose cuda.h reconciles cu with CUDA 13, the toolkit's
// headers, and a libcuda to link against.
package driver
