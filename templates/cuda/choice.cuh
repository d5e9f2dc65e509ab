// Types that a named constant chooses, where `if constexpr` chooses statements.
#pragma once

namespace coalesce {

template <bool FIRST, class A, class B> struct Chosen { typedef A Type; };
template <class A, class B> struct Chosen<false, A, B> { typedef B Type; };

// Choice is A where the constant is true, else B.
template <bool FIRST, class A, class B> using Choice = typename Chosen<FIRST, A, B>::Type;

}  // namespace coalesce
