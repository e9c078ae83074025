// orders: a number that records how it is made of unknowns and their time derivatives. A model's equations run over it once. From the
// record the host reads the order of the highest derivative of each unknown in each equation, with both sides of every selection or with
// one, and where highest derivatives occur linearly (host/structure/). Host side only.
//
// The record is a graph (number/expression.hpp), not a set of orders: a number takes 16 bytes for any number of unknowns, and the branches
// of selections can be chosen afterwards. All results of held numbers alone are one node, which stands for a coefficient. Discrete
// variables and signs of guards are held, too, but conditions distinguish them.
#pragma once

#include "number/expression.hpp"
#include "number/recorded_branches.hpp"
#include "number/tracked.hpp"

namespace saltus {

/// The nodes recorded so far.
class expression_record {
 public:
  expression_record() { add(operation::held, 0, 0); }
  ~expression_record() { delete[] nodes_; }
  expression_record(const expression_record&) = delete;
  expression_record& operator=(const expression_record&) = delete;

  int count() const { return count_; }
  const expression* nodes() const { return nodes_; }
  int add(operation what, int a, int b, int c = 0, double value = 0.0) {
    if (count_ == capacity_) grow();
    nodes_[count_] = {static_cast<int>(what), a, b, c, value};
    return count_++;
  }
  /// True for numbers that do not change within a step.
  bool is_held(int i) const {
    const auto what = static_cast<operation>(nodes_[i].operation);
    return what == operation::held || what == operation::discrete || what == operation::guard;
  }

 private:
  void grow() {
    capacity_ = capacity_ == 0 ? 256 : 2 * capacity_;
    auto* const more = new expression[static_cast<unsigned long>(capacity_)];
    for (int i = 0; i < count_; ++i) more[i] = nodes_[i];
    delete[] nodes_;
    nodes_ = more;
  }
  expression* nodes_ = nullptr;
  int count_ = 0, capacity_ = 0;
};

/// The record that new nodes go to.
inline expression_record* recording = nullptr;

/// The answer of a comparison, and its node. It is no `bool`, so that the model cannot branch on it while it is recorded.
struct recorded_mask {
  bool answer = false;
  int node = -1;  ///< -1: always this answer

  recorded_mask() = default;
  recorded_mask(bool is, int at = -1) : answer(is), node(at) {}
  static recorded_mask all(bool value) { return value; }
  bool operator[](int) const { return answer; }

  friend recorded_mask operator&(recorded_mask a, recorded_mask b) {
    return {a.answer && b.answer, made(operation::all_of, a, b)};
  }
  friend recorded_mask operator|(recorded_mask a, recorded_mask b) {
    return {a.answer || b.answer, made(operation::any_of, a, b)};
  }
  friend recorded_mask operator^(recorded_mask a, recorded_mask b) {
    return {a.answer != b.answer, made(operation::one_of, a, b)};
  }
  friend recorded_mask operator!(recorded_mask a) { return {!a.answer, recording->add(operation::negation, id(a), 0)}; }
  friend recorded_mask operator&&(recorded_mask a, recorded_mask b) { return a & b; }
  friend recorded_mask operator||(recorded_mask a, recorded_mask b) { return a | b; }
  friend bool any(recorded_mask a) { return any_recorded(a.answer); }
  friend bool all(recorded_mask a) { return all_recorded(a.answer); }
  friend bool none(recorded_mask a) { return !any_recorded(a.answer); }

  friend int id(recorded_mask a) {
    return a.node >= 0 ? a.node : recording->add(operation::always, a.answer ? 1 : 0, 0);
  }

 private:
  static int made(operation what, recorded_mask a, recorded_mask b) {
    const int left = id(a);
    return recording->add(what, left, id(b));
  }
};

/// The trace of `orders`: a node. A held summand or factor leaves the other operand's node as it is.
struct recorded_node {
  using condition = recorded_mask;
  int node = 0;

  static recorded_node input(int i) { return {recording->add(operation::unknown, i, 0)}; }
  static recorded_node sum(recorded_node a, recorded_node b) {
    if (held(b) || a.node == b.node) return held(a) ? recorded_node{} : a;
    return held(a) ? b : made(operation::sum, a, b);
  }
  static recorded_node product(recorded_node a, recorded_node b) {
    if (held(b)) return held(a) ? recorded_node{} : a;
    return held(a) ? b : made(operation::product, a, b);
  }
  static recorded_node quotient(recorded_node a, recorded_node b) {
    if (held(b)) return held(a) ? recorded_node{} : a;
    return held(a) ? function(b) : made(operation::quotient, a, b);
  }
  static recorded_node function(recorded_node a) { return function(a, {}); }
  static recorded_node function(recorded_node a, recorded_node b) {
    if (held(a)) return held(b) ? recorded_node{} : recorded_node{recording->add(operation::function, b.node, 0)};
    return {recording->add(operation::function, a.node, held(b) ? 0 : b.node)};
  }
  static recorded_node derivative(recorded_node a, int k) {
    if (k == 0) return a;
    return held(a) ? recorded_node{} : recorded_node{recording->add(operation::derivative, a.node, k)};
  }
  static recorded_node choice(condition m, recorded_node a, recorded_node b) {
    if (held(a) && held(b)) return {};
    const int left = held(a) ? 0 : a.node, right = held(b) ? 0 : b.node;
    return left == right ? a : recorded_node{recording->add(operation::choice, id(m), left, right)};
  }
  template <class Number>
  static condition compared(bool answer, relation r, const Number& a, const Number& b) {
    const int what = static_cast<int>(operation::less) + static_cast<int>(r);
    const double constant = a.trace.node == 0 ? a.value.v : b.value.v;
    return {answer, recording->add(static_cast<operation>(what), a.trace.node, b.trace.node, answer ? 1 : 0, constant)};
  }

 private:
  static bool held(recorded_node a) { return a.node <= 0 || recording->is_held(a.node); }
  static recorded_node made(operation what, recorded_node a, recorded_node b) {
    return {recording->add(what, a.node, b.node)};
  }
};

using orders = tracked<recorded_node>;

/// The k-th time derivative, k >= 0, for `at.d(x, k)` of a model. Its value is not known. Types that convert to `orders` do not take part:
/// a type has derivatives if it has this function.
template <class Number>
requires(is_same<Number, orders>) Number derivative(const Number& x, int k) {
  return k == 0 ? x : orders(orders::Real(0.0), recorded_node::derivative(x.trace, k));
}

/// A selection between two literals, as models write it: select(at.above(switch), -1.0, 1.0).
inline orders select(recorded_mask m, double a, double b) { return select(m, orders(a), orders(b)); }

}  // namespace saltus
