package devices

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coalesce/runtime/device"
)

// Auto is the name of the best device there is: a GPU that opens, or else the processor.
const Auto = "auto"

// A Name is a name of devices, taken apart.
type Name struct {
	Kind    string // Auto, device.Host, device.Emulated or device.CUDA
	Indices []int  // of the devices, each once; nil: one device, or all
	All     bool   // all of the kind
}

// IsSingle says whether the name means one device.
func (n Name) IsSingle() bool { return !n.All && len(n.Indices) <= 1 }

// Parse takes a name apart: auto, host, emulated, cuda (one device), cuda:1, cuda:0,1
// or cuda:all, and the same of emulated.
func Parse(name string) (Name, error) {
	wrong := fmt.Errorf("device %q: expected auto, host, emulated, cuda, cuda:INDEX, cuda:INDEX,INDEX,… or cuda:all", name)
	kind, list, indexed := strings.Cut(name, ":")
	switch {
	case kind == device.CUDA || kind == device.Emulated:
	case (kind == Auto || kind == device.Host) && !indexed:
	default:
		return Name{}, wrong
	}
	n := Name{Kind: kind, All: indexed && list == "all"}
	if !indexed || n.All {
		return n, nil
	}
	for number := range strings.SplitSeq(list, ",") {
		index, err := strconv.Atoi(number)
		if err != nil || index < 0 || slices.Contains(n.Indices, index) {
			return Name{}, wrong
		}
		n.Indices = append(n.Indices, index)
	}
	return n, nil
}
