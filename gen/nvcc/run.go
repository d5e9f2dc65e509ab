package nvcc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// compileError is nvcc's refusal of a text, or its running out of time on it.
type compileError struct{ message string }

func (e *compileError) Error() string { return e.message }

// maxMessage bounds how much of nvcc's talk is shown, in lines.
const maxMessage = 40

// run calls nvcc and returns all it wrote. A refusal is a *compileError;
// other errors (nvcc cannot be started, ctx is done) end the build.
func (tk *Toolkit) run(ctx context.Context, args []string, limit time.Duration) (string, error) {
	tctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(tctx, tk.NVCC, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ownGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case tctx.Err() != nil:
		return "", &compileError{fmt.Sprintf("stopped after %v without an end", limit)}
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", fmt.Errorf("start %s: %w", tk.NVCC, err)
	}
	return "", &compileError{message(out.String(), err)}
}

// message is the part of nvcc's output that users need: all but ptxas's statistics.
func message(out string, err error) string {
	var keep []string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "ptxas info") || strings.Contains(line, "bytes stack frame") || strings.TrimSpace(line) == "" {
			continue
		}
		keep = append(keep, line)
	}
	if n := len(keep); n > maxMessage {
		keep = append(keep[:maxMessage], fmt.Sprintf("(%d more lines)", n-maxMessage))
	}
	if len(keep) == 0 {
		return fmt.Sprintf("nvcc said nothing and ended with %v", err)
	}
	return strings.Join(keep, "\n")
}
