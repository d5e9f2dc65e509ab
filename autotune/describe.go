package autotune

import (
	"maps"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A Predictor is a subject that predicts the best variant from the shape of a workload.
type Predictor interface {
	Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error)
}

// DescribeWorkload is a workload as solves describe it when they choose a variant. chosen is false where they choose
// none for it, because the subject predicts that variants of another workload, such as another type of
// values, suit every such problem better. Then, and beside an error, w has the size and fixed alone.
func DescribeWorkload(s subject.Subject, fixed map[string]string, facts device.Facts, size int) (w tuned.Workload, chosen bool, err error) {
	w = tuned.Workload{Fixed: fixed, Size: size}
	p, ok := s.(Predictor)
	if !ok {
		return w, true, nil
	}
	shaped, err := p.Workload(fixed, facts, size)
	if err != nil || !maps.Equal(shaped.Fixed, fixed) {
		return w, false, err
	}
	return shaped, true, nil
}
