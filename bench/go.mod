module coalesce/bench

go 1.26.0

require coalesce v0.0.0

require (
	github.com/google/uuid v1.1.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/therootcompany/xz v1.0.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gorgonia.org/cu v0.9.6 // indirect
)

replace coalesce => ../
