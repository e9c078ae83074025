// watched<Number>: a number that notes the branches of a model's function: on which side of its comparisons, `abs`, `max` and `floor` the
// function was evaluated. Two evaluations with equal notes lie on one smooth piece of the function, up to what happens between them.
//
// A comparison is noted if one of its numbers has notes, and, of numbers with a derivative, if that of their difference is not zero. A
// function must not skip work by any, all or none: its notes would depend on other lanes.
#pragma once

#include "number/math.hpp"

namespace saltus {

/// The answers that a function has given so far, as one integer per lane.
template <class Real>
struct noted_answers {
  using integer = typename real_traits<Real>::integer;
  integer of = integer(0);

  SALTUS_FN void add(mask_of<Real> answer) { add(select(answer, integer(1), integer(2))); }
  /// Turns the sum by seven places; the sign fills those above. Changes of several of the last 64 answers (floats: 32) do not cancel.
  SALTUS_FN void add(integer answer) {
    constexpr int bits = 8 * sizeof(scalar_of<Real>), places = 7;
    of = of.shift_left(places) ^ of.shift_right(bits - places) ^ answer;
  }
  SALTUS_FN friend mask_of<Real> differ(const noted_answers& a, const noted_answers& b) { return a.of != b.of; }
};

namespace detail {
/// True where a number changes along its direction; one without derivatives counts as changing.
template <class Number>
SALTUS_FN mask_of<Number> moves(const Number& x) {
  using Real = decltype(value_alone(x));
  if constexpr (is_same<Number, Real>) return mask_of<Number>::all(true);
  else return x.d[0] != Real(0.0);
}
}  // namespace detail

template <class Number>
struct watched;

namespace detail {
template <class Number>
struct inside<watched<Number>> {
  using type = Number;
};
}  // namespace detail

template <class Number>
struct watched {
  using scalar = scalar_of<Number>;
  using mask_type = mask_of<Number>;
  using integer = typename real_traits<Number>::integer;
  using Real = decltype(detail::value_alone(Number(0.0)));
  using notes_type = noted_answers<Real>;
  static constexpr int lanes = real_traits<Number>::lanes;

  Number value;
  notes_type* notes = nullptr;  ///< null: a constant

  watched() = default;
  SALTUS_FN watched(double x) : value(x) {}
  SALTUS_FN watched(const Number& x) : value(x) {}
  SALTUS_FN watched(Real x) requires(!is_same<Number, Real>) : value(x) {}
  SALTUS_FN watched(const Number& x, notes_type* to) : value(x), notes(to) {}
  template <class Whole>
  requires(lanes == 1 && is_number<Whole> && !is_same<Whole, double> && !is_same<Whole, float>) SALTUS_FN explicit
  operator Whole() const {
    return static_cast<Whole>(value);
  }

#define SALTUS_OF_ONE(name) \
  SALTUS_FN friend watched name(const watched& a) { return {name(a.value), a.notes}; }
#define SALTUS_OF_TWO(name)                                           \
  SALTUS_FN friend watched name(const watched& a, const watched& b) { \
    return {name(a.value, b.value), a.notes_with(b)};                 \
  }
#define SALTUS_PIECEWISE_OF_ONE(name)                                                                              \
  SALTUS_FN friend watched name(const watched& a) {                                                                \
    const Number r = name(a.value);                                                                                \
    if (a.notes != nullptr) a.notes->add(bits(select(detail::moves(a.value), detail::value_alone(r), Real(0.0)))); \
    return {r, a.notes};                                                                                           \
  }
#define SALTUS_PIECEWISE_OF_TWO(name)                                 \
  SALTUS_FN friend watched name(const watched& a, const watched& b) { \
    static_cast<void>(a < watched(0.0));                              \
    static_cast<void>(b < watched(0.0));                              \
    return {name(a.value, b.value), a.notes_with(b)};                 \
  }
#include "number/functions.def"
  SALTUS_FN friend watched abs(const watched& a) {
    static_cast<void>(a < watched(0.0));
    return {abs(a.value), a.notes};
  }
  SALTUS_FN friend watched min(const watched& a, const watched& b) { return select(b < a, b, a); }
  SALTUS_FN friend watched max(const watched& a, const watched& b) { return select(a < b, b, a); }
  SALTUS_FN friend watched fma(const watched& a, const watched& b, const watched& c) {
    return {fma(a.value, b.value, c.value), a.notes != nullptr ? a.notes : b.notes_with(c)};
  }
  SALTUS_FN friend watched select(mask_type m, const watched& a, const watched& b) {
    return {select(m, a.value, b.value), a.notes_with(b)};
  }

#define SALTUS_INFIX(op)                                                     \
  SALTUS_FN friend watched operator op(const watched& a, const watched& b) { \
    return {a.value op b.value, a.notes_with(b)};                            \
  }                                                                          \
  SALTUS_FN watched& operator op##=(const watched& b) { return *this = *this op b; }
  SALTUS_INFIX(+)
  SALTUS_INFIX(-)
  SALTUS_INFIX(*)
  SALTUS_INFIX(/)
#undef SALTUS_INFIX
  SALTUS_FN friend watched operator-(const watched& a) { return {-a.value, a.notes}; }
  SALTUS_FN friend watched operator+(const watched& a) { return a; }

#define SALTUS_COMPARISON(op)                                                                                         \
  SALTUS_FN friend mask_type operator op(const watched& a, const watched& b) {                                        \
    const auto answer = a.value op b.value;                                                                           \
    if (auto* const notes = a.notes_with(b); notes != nullptr) notes->add(detail::moves(a.value - b.value) & answer); \
    return answer;                                                                                                    \
  }
  SALTUS_COMPARISON(<)
  SALTUS_COMPARISON(<=)
  SALTUS_COMPARISON(>)
  SALTUS_COMPARISON(>=)
  SALTUS_COMPARISON(==)
  SALTUS_COMPARISON(!=)
#undef SALTUS_COMPARISON

 private:
  SALTUS_FN notes_type* notes_with(const watched& b) const { return notes != nullptr ? notes : b.notes; }
};

}  // namespace saltus
