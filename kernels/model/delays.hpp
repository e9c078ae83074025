// Delays: the memory in which an instance keeps its past states, and the values that a model reads from it, at.delayed(state, delay).
//
// The memory of an instance is a ring of records. A record is one accepted step: the time at which it begins, one over its length, the
// level of the discontinuity at its beginning, and the states as polynomials in s, 0 <= s <= 1: the dense output of the method. Records have
// the numbers 0, 1, 2, ...; the newest one begins at the accepted point and has no polynomials yet. Before record 0 lies the history, record
// -1, which is the model's function.
//
// A delayed value lies in one of a few records, which are known before the step: `first` contains the delayed time at the step's
// beginning, and the records before `end` have no breaking point between them. No step passes a breaking point, so at a step's end a
// delayed value that jumps there is its limit from the left, and at the next step's beginning the limit from the right.
#pragma once

#include "model/traits.hpp"
#include "number/dual.hpp"

namespace saltus {

template <class Id, class Real, int N>
struct named;

/// The parameters of an instance, as `delays` sees them: by their enumerators.
template <class Model, class Real>
struct parameters_alone {
  using kinds = detail::kinds<Model>;
  const vec<Real, kinds::parameter_count>& p;

  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  template <class Other>
  SALTUS_FN const Real& operator[](Other) const {
    static_assert(!is_same<Other, Other>,
                  "delays and history depend on parameters, and history on time: neither has a "
                  "state, discrete variable or table to read");
    return p[0];
  }
};

/// A time before the start, as `history` sees it.
template <class Model, class Value, class Real>
struct past_point : parameters_alone<Model, Real> {
  Value t;
};

namespace detail {

/// True if the model says what its states were before the start.
template <class Model>
inline constexpr bool has_history =
    requires(const past_point<Model, pack<double, 1>, pack<double, 1>>& at,
             named<typename kinds<Model>::state, pack<double, 1>, kinds<Model>::state_count>& y) {
  Model::history(at, y);
};

/// The level of a beginning at which nothing jumps. Else level m says that the m-th derivative of states may jump there.
inline constexpr double smooth = 255.0;

/// The memory of one instance, by its address: the capacity of the ring less one, the degree of the polynomials, the initial states, then
/// the records.
template <int States, class T>
class past_memory {
 public:
  SALTUS_FN explicit past_memory(int64 address) : numbers_(reinterpret_cast<T*>(address)) {}

  /// Numbers of an instance for polynomials of this degree; the capacity is a power of two.
  SALTUS_FN static constexpr int64 size(int64 capacity, int degree) { return 2 + States + capacity * width(degree); }
  SALTUS_FN void begin(int64 capacity, int degree) const {
    sizes()[0] = capacity - 1;
    sizes()[1] = degree;
  }
  SALTUS_FN int64 capacity() const { return sizes()[0] + 1; }
  SALTUS_FN int degree() const { return static_cast<int>(sizes()[1]); }
  SALTUS_FN T& initial(int state) const { return numbers_[2 + state]; }

  /// The parts of a record: its begin, one over its length, the level at its begin, the coefficients of a state.
  SALTUS_FN T& start(int64 record) const { return *at(record); }
  SALTUS_FN T& inverse_length(int64 record) const { return at(record)[1]; }
  SALTUS_FN T& level(int64 record) const { return at(record)[2]; }
  SALTUS_FN T* coefficients(int64 record, int state) const { return at(record) + 3 + state * (degree() + 1); }

 private:
  static_assert(sizeof(T) == sizeof(int64), "the first two numbers are integers");
  SALTUS_FN int64* sizes() const { return reinterpret_cast<int64*>(numbers_); }
  SALTUS_FN static constexpr int width(int degree) { return 3 + States * (degree + 1); }
  SALTUS_FN T* at(int64 record) const {
    const int64 place = record & sizes()[0];
    return numbers_ + 2 + States + place * width(degree());
  }

  T* numbers_;
};

/// The past of an instance as a step sees it, constant through the step; empty for models without delays.
template <class Model, class Real>
struct past_of {};

template <class Model, class T, int W>
requires(kinds<Model>::delay_count > 0 && is_number<T>) struct past_of<Model, pack<T, W>> {
  using Real = pack<T, W>;
  using integer = typename Real::integer;
  using parameters = vec<Real, kinds<Model>::parameter_count>;
  static constexpr int delays = kinds<Model>::delay_count, states = kinds<Model>::state_count;
  using memory_of = past_memory<states, T>;

  integer address;             ///< of the memory
  integer newest;              ///< the record that begins at the accepted point
  vec<integer, delays> first;  ///< for each delay: the record in which the delayed value lies at the step's beginning
  vec<integer, delays>
      end;  ///< the next one that begins at a breaking point, or the newest; -1: the delay never leaves the history
  vec<Real, delays> lag;
  Real next_break;  ///< time of the next breaking point

  SALTUS_FN memory_of memory(int lane) const { return memory_of(address.get(lane)); }
  SALTUS_FN past_of<Model, pack<T, 1>> of_lane(int lane) const {
    past_of<Model, pack<T, 1>> r;
    const auto take = [&](auto& to, const auto& from) SALTUS_INLINE_LAMBDA { to.v = from.get(lane); };
    take(r.address, address), take(r.newest, newest), take(r.next_break, next_break);
    for (int k = 0; k < delays; ++k) take(r.first[k], first[k]), take(r.end[k], end[k]), take(r.lag[k], lag[k]);
    return r;
  }

  /// State i, delayed by delay k, at the time t of a step.
  template <class Value>
  SALTUS_FN Value value(int i, int k, const Value& t, const parameters& p) const {
    const Value then = t - Value(lag[k]);
    const Real time = value_alone(then);
    const T* of_lane[W];
    Real start, inverse;
    auto before = mask_of<Real>::all(false);
    int degree = 0;
    for (int lane = 0; lane < W; ++lane) {
      const auto records = memory(lane);
      const int64 last = end[k].get(lane);
      int64 record = first[k].get(lane);
      while (record + 1 < last && records.start(record + 1) <= time.get(lane)) ++record;
      if (record < 0) before = before | mask_of<Real>::from_bits(1u << lane);
      const int64 there = record < 0 ? 0 : record;
      start.set(lane, records.start(there));
      inverse.set(lane, record < 0 ? T(0.0) : records.inverse_length(there));
      of_lane[lane] = record < 0 ? nullptr : records.coefficients(there, i);
      degree = records.degree();
    }
    const Value s = (then - Value(start)) * Value(inverse);
    const auto coefficient = [&](int j) SALTUS_INLINE_LAMBDA {
      Real c;
      for (int lane = 0; lane < W; ++lane) c.set(lane, of_lane[lane] == nullptr ? T(0.0) : of_lane[lane][j]);
      return Value(c);
    };
    Value sum = coefficient(degree);
    for (int j = degree - 1; j >= 0; --j) sum = sum * s + coefficient(j);
    if (any(before)) sum = select(before, before_start(i, then, p), sum);
    return sum;
  }

  /// State i before the start.
  template <class Value>
  SALTUS_FN_COLD Value before_start(int i, const Value& t, const parameters& p) const {
    named<typename kinds<Model>::state, Value, states> y;
    for (int j = 0; j < states; ++j) {
      Real initial;
      for (int lane = 0; lane < W; ++lane) initial.set(lane, memory(lane).initial(j));
      y.values[j] = Value(initial);
    }
    if constexpr (has_history<Model>) Model::history(past_point<Model, Value, Real>{{p}, t}, y);
    return y.values[i];
  }
};

/// The past that a point of a model knows, if it belongs to an instance under way; empty for models without delays.
template <class Model, class Real>
struct known_past {};
template <class Model, class Real>
requires(kinds<Model>::delay_count > 0) struct known_past<Model, Real> {
  const past_of<Model, Real>* past = nullptr;
};

/// For at.delayed(state, at[tau]) and the like.
#define SALTUS_UNKNOWN_DELAY                                                                                         \
  template <class Other>                                                                                             \
  requires(!is_same<Other, typename kinds::delay>) SALTUS_FN Real delayed(typename kinds::state, const Other&)       \
  const {                                                                                                            \
    static_assert(!is_same<Other, Other>,                                                                            \
                  "a delay is named, at.delayed(state, tau): add enum delay { tau }; and delay_list[], and compute " \
                  "it from parameters in static void delays(const auto& at, auto& lag)");                            \
    return Real(0.0);                                                                                                \
  }

}  // namespace detail
}  // namespace saltus
