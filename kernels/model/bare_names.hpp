// A bare `limit` in place of at[limit] is a whole number, and arithmetic with it would compile. These overloads refuse it. Packs refuse it
// by themselves (pack.hpp). Whole numbers may be added to a bare name, since members of families are counted that way.
//
// Host side only: a model that passes here is then compiled for a device.
#pragma once

#include "number/base.hpp"

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)

namespace saltus::detail {

/// True if E is an enumeration of a model, as its lists have them. The compiler spells E in the name of this function ("... [with E =
/// tank::parameter]").
template <class E>
constexpr bool is_kind_of_name() {
  const char* s = __PRETTY_FUNCTION__;
  int end = 0;
  while (s[end] != 0) ++end;
  while (end > 0 && s[end - 1] != ']') --end;
  --end;
  constexpr const char* kinds[] = {"::state",  "::parameter", "::discrete",   "::guard",     "::time_event",
                                   "::column", "::output",    "::constraint", "::invariant", "::equation",
                                   "::table",  "::stream",    "::delay"};
  for (const char* kind : kinds) {
    int length = 0;
    while (kind[length] != 0) ++length;
    bool same = length < end;
    for (int i = 0; same && i < length; ++i) same = s[end - length + i] == kind[i];
    if (same) return true;
  }
  return false;
}
template <class E>
concept bare_name = __is_enum(E) && is_kind_of_name<E>();
template <class T>
concept fraction = is_same<T, double> || is_same<T, float>;

}  // namespace saltus::detail

namespace saltus::plain {

#define SALTUS_REFUSED(op)                           \
  template <detail::fraction A, detail::bare_name E> \
  void operator op(A, E) = delete;                   \
  template <detail::bare_name E, detail::fraction A> \
  void operator op(E, A) = delete;
SALTUS_REFUSED(+)
SALTUS_REFUSED(-)
SALTUS_REFUSED(*)
SALTUS_REFUSED(/)
SALTUS_REFUSED(<)
SALTUS_REFUSED(>)
SALTUS_REFUSED(<=)
SALTUS_REFUSED(>=)
#undef SALTUS_REFUSED
template <detail::bare_name E>
void operator-(E) = delete;
template <detail::bare_name E, detail::bare_name F>
void operator*(E, F) = delete;
template <detail::bare_name E, detail::bare_name F>
void operator/(E, F) = delete;

}  // namespace saltus::plain

#endif
