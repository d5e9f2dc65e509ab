package main

/*
#include "shim.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unsafe"

	"coalesce/internal/cli"
)

// notHere are the commands that need a program of their own: their processes start the program that they run in.
var notHere = []string{"tune", "tune-worker", "bundle"}

//export goStartCommand
func goStartCommand(list **C.char, count C.int32_t, handle *C.int64_t) C.int32_t {
	var args []string
	if count > 0 && list != nil {
		for _, arg := range unsafe.Slice(list, count) {
			args = append(args, C.GoString(arg))
		}
	}
	return startJob(handle, func(ctx context.Context, _ func()) ([]byte, error) {
		if len(args) == 0 || slices.Contains(notHere, args[0]) {
			return nil, argumentError("found the command %.80q, expected one of the program's besides %s", args, strings.Join(notHere, ", "))
		}
		var output, messages bytes.Buffer
		code := cli.Call(ctx, args, strings.NewReader(""), &output, &messages)
		return json.Marshal(struct {
			Code     int    `json:"code"`
			Output   string `json:"output"`
			Messages string `json:"messages"`
		}{code, output.String(), messages.String()})
	})
}
