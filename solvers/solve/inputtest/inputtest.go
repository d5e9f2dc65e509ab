// Package inputtest fills structs with invalid values, for tests of the checks that solvers make and for scripts/adversary, and says how many
// random instances tests draw.
package inputtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// Draws is how many random instances a test draws: a fifth of n with -short, as under the race detector.
func Draws(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// SpoilField changes a random exported field, or an element, of the struct that p points to, and returns its
// path. The change may leave the struct as good as it was.
func SpoilField(r *rand.Rand, p any) string {
	v := reflect.ValueOf(p).Elem()
	return spoil(r, v, v.Type().Name())
}

func spoil(r *rand.Rand, v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Struct:
		var fields []int
		for k := range v.NumField() {
			if v.Type().Field(k).IsExported() {
				fields = append(fields, k)
			}
		}
		if len(fields) == 0 {
			return path
		}
		k := fields[r.IntN(len(fields))]
		return spoil(r, v.Field(k), path+"."+v.Type().Field(k).Name)
	case reflect.Pointer:
		if !v.IsNil() && r.IntN(4) > 0 {
			return spoil(r, v.Elem(), path)
		}
		if v.IsNil() && r.IntN(2) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			return spoil(r, v.Elem(), path)
		}
		v.SetZero()
		return path + " = nil"
	case reflect.Slice:
		return spoilSlice(r, v, path)
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if keys := v.MapKeys(); len(keys) > 0 && r.IntN(3) > 0 {
			key.Set(keys[0])
		} else {
			scalar(r, key)
		}
		scalar(r, elem)
		v.SetMapIndex(key, elem)
		return fmt.Sprintf("%s[%v] = %v", path, key, elem)
	case reflect.Interface, reflect.Func:
		v.SetZero()
		return path + " = nil"
	}
	scalar(r, v)
	return fmt.Sprintf("%s = %v", path, v)
}

func spoilSlice(r *rand.Rand, v reflect.Value, path string) string {
	whole := reflect.MakeSlice(v.Type(), v.Len(), v.Len()) // others keep theirs
	reflect.Copy(whole, v)
	n := v.Len()
	switch {
	case n > 0 && r.IntN(2) > 0:
		v.Set(whole)
		k := r.IntN(n)
		return spoil(r, v.Index(k), fmt.Sprintf("%s[%d]", path, k))
	case n > 1 && r.IntN(2) > 0:
		i, j := r.IntN(n), r.IntN(n)
		whole.Index(i).Set(v.Index(j))
		v.Set(whole)
		return fmt.Sprintf("%s[%d] = %[1]s[%d]", path, i, j)
	case n > 0 && r.IntN(2) > 0:
		v.Set(whole.Slice(0, n-1))
		return path + " is shorter"
	case r.IntN(2) > 0:
		v.Set(reflect.Append(whole, reflect.New(v.Type().Elem()).Elem()))
		return path + " is longer"
	}
	v.SetZero()
	return path + " = nil"
}

// scalar sets a number, a text or a truth value to one at the edge of what it may be.
func scalar(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString([]string{"", "x", "ann", "a name with blanks", "é\x00"}[r.IntN(5)])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		edge := int64(1)<<(v.Type().Bits()-1) - 1
		x := []int64{-1, 0, 1, 2, 7, v.Int() + 1, v.Int() - 1, -v.Int(), edge, edge - 1, edge/2 + 1, -edge, -edge - 1}
		x = slices.DeleteFunc(x, v.OverflowInt)
		v.SetInt(x[r.IntN(len(x))])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x := []uint64{0, 1, 2, v.Uint() + 1, v.Uint() ^ 1, 1<<(v.Type().Bits()-1) - 1, 1 << (v.Type().Bits() - 1)}
		x = slices.DeleteFunc(x, v.OverflowUint)
		v.SetUint(x[r.IntN(len(x))])
	case reflect.Float32, reflect.Float64:
		x := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), -v.Float(), 5e-324, math.MaxFloat32, math.MaxFloat64, -math.MaxFloat64}
		v.SetFloat(x[r.IntN(len(x))])
	}
}

// NamesField reports whether a text names an exported field of the structs, at any depth, in small letters or large.
func NamesField(text string, structs ...any) bool {
	for _, s := range structs {
		if names(text, reflect.TypeOf(s), map[reflect.Type]bool{}) {
			return true
		}
	}
	return false
}

func names(text string, t reflect.Type, seen map[reflect.Type]bool) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		return names(text, t.Elem(), seen)
	case reflect.Struct:
	default:
		return false
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	for k := range t.NumField() {
		f := t.Field(k)
		if f.IsExported() && (regexp.MustCompile(`(?i)\b`+f.Name+`\b`).MatchString(text) || names(text, f.Type, seen)) {
			return true
		}
	}
	return false
}

// RecoverPanic runs work and returns its error, or what it panicked with.
func RecoverPanic(work func() error) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, work()
}
