package tuned

import "coalesce/runtime/device"

// Pick is the variant that Choose finds. A nil database stands for the one that the
// binary carries.
func (db *Database) Pick(f *device.Family, facts device.Facts, w Workload, fits func(*device.Variant) error) (*device.Variant, error) {
	if db == nil {
		db = Shipped()
	}
	c, err := db.Choose(f, facts, w, fits)
	return c.Variant, err
}

// SafeVariant is the first of a family's safe variants; nil where the family
// has none.
func SafeVariant(f *device.Family) *device.Variant {
	for i := range f.Variants {
		if f.Variants[i].Safe {
			return &f.Variants[i]
		}
	}
	return nil
}

// LikeSafe is, of the variants that fit, the one that shares the most values
// with the safe one; nil when none fits.
func LikeSafe(f *device.Family, fits func(v *device.Variant) bool) *device.Variant {
	safe, maximum := SafeVariant(f), -1
	var best *device.Variant
	for i := range f.Variants {
		v := &f.Variants[i]
		if !fits(v) {
			continue
		}
		alike := 0
		for at, x := range v.Values {
			if x == safe.Values[at] {
				alike++
			}
		}
		if alike > maximum {
			best, maximum = v, alike
		}
	}
	return best
}
