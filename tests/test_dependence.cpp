// The number type that records the inputs on which a value depends, through every function and through the functions of a model.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "number/degree.hpp"
#include "number/dependence.hpp"

namespace {

using saltus::dependent;
using saltus::pack;

constexpr int inputs = 130;  // more bits than two words have
using number = dependent<inputs>;
using row = pack<double, 1>;

std::vector<int> inputs_of(const number& x) {
  std::vector<int> all;
  for (int i = 0; i < inputs; ++i)
    if (x.trace.has(i)) all.push_back(i);
  return all;
}
using list = std::vector<int>;

const number a = number::input(0, 0.25), b = number::input(63, 0.5), c = number::input(64, -0.75),
             d = number::input(129, 0.125);
const row parameter(3.0);

TEST(Dependence, OfInputsAndConstants) {
  EXPECT_EQ(inputs_of(number(2.0)), list{});
  EXPECT_EQ(inputs_of(number(parameter)), list{});
  EXPECT_EQ(inputs_of(a), list{0});
  EXPECT_EQ(inputs_of(d), list{129});
  EXPECT_EQ(a.value.v, 0.25);
}

TEST(Dependence, GoesThroughArithmetic) {
  EXPECT_EQ(inputs_of(a + b), (list{0, 63}));
  EXPECT_EQ(inputs_of(b - c), (list{63, 64}));
  EXPECT_EQ(inputs_of(c * d), (list{64, 129}));
  EXPECT_EQ(inputs_of(d / a), (list{0, 129}));
  EXPECT_EQ(inputs_of(fma(a, b, c)), (list{0, 63, 64}));
  EXPECT_EQ(inputs_of(-a), list{0});
  EXPECT_EQ(inputs_of(2.0 * a - 1), list{0});
  EXPECT_EQ(inputs_of(parameter * (b + parameter) / 4.0), list{63});
  number sum = 0.0;
  EXPECT_EQ(inputs_of(sum), list{});
  sum += a;
  sum *= parameter;
  sum -= d;
  EXPECT_EQ(inputs_of(sum), (list{0, 129}));
  EXPECT_EQ(sum.value.v, 0.625);
}

TEST(Dependence, IsThereForSomeValuesWhereItIsNotForThese) {
  EXPECT_EQ(inputs_of(0.0 * a), list{0});
  EXPECT_EQ(inputs_of(a - a), list{0});
  EXPECT_EQ(inputs_of(min(a, b)), (list{0, 63}));
  EXPECT_EQ(inputs_of(max(a, 7.0)), list{0});
}

TEST(Dependence, OfSelectionsIsThatOfBothSidesAndNotOfTheCondition) {
  EXPECT_EQ(inputs_of(select(a > b, c, d)), (list{64, 129}));
  EXPECT_EQ(inputs_of(select(a < b, c, 1.0)), list{64});
  EXPECT_EQ(inputs_of(select(parameter > row(1.0), number(2.0), d)), list{129});
}

TEST(Dependence, GoesThroughFunctions) {
  for (const number& x : {sqrt(a),
                          cbrt(a),
                          exp(a),
                          expm1(a),
                          log(a),
                          log2(a),
                          log10(a),
                          sin(a),
                          cos(a),
                          tan(a),
                          asin(a),
                          acos(a),
                          atan(a),
                          sinh(a),
                          cosh(a),
                          tanh(a),
                          floor(a),
                          ceil(a),
                          round(a),
                          sign(a),
                          abs(a),
                          pow(a, 2.0),
                          pow(a, 2),
                          pow(2.0, a),
                          pow(a, parameter),
                          atan2(a, 1.0),
                          atan2(parameter, a),
                          hypot(3.0, a),
                          copysign(a, number(-1.0))})
    EXPECT_EQ(inputs_of(x), list{0});
  for (const number& x : {pow(a, b), atan2(a, b), hypot(a, b), copysign(a, b)}) EXPECT_EQ(inputs_of(x), (list{0, 63}));
}

TEST(Dependence, LeavesValuesAsTheyAre) {
  EXPECT_EQ(sin(a).value.v, sin(row(0.25)).v);
  EXPECT_EQ((exp(b) / c).value.v, (exp(row(0.5)) / row(-0.75)).v);
  EXPECT_EQ(select(a < b, c, d).value.v, -0.75);
}

TEST(Dependence, OfAModelThatSkipsWorkIsThatOfAllOfIt) {
  saltus::recorded_lanes = saltus::lanes_recorded::mixed;
  number x = 0.0;
  if (any(a > b)) x += c;
  if (!all(a < b)) x += d;
  saltus::recorded_lanes = saltus::lanes_recorded::one;
  EXPECT_EQ(inputs_of(x), (list{inputs_of(c)[0], inputs_of(d)[0]}));
  EXPECT_EQ(any(a > b), (a > b)[0]);
}

TEST(Degree, OfNumbersInTimeAndStates) {
  using saltus::graded, saltus::smoothness;
  const auto degree = [](const graded& x) { return x.trace.of; };
  const auto x = graded::input(0, 0.5), y = graded::input(1, -2.0);
  const graded p = 3.0;
  for (const auto& held : {p, p * p / 2.0, sin(p), max(p, graded(1.0)), select(p > 1.0, -1.0, 1.0)})
    EXPECT_EQ(degree(held), smoothness::held);
  for (const auto& linear : {x, -x, x - y, p * x + y / p - 1.0, fma(p, x, y), 0.0 * x, select(p > 1.0, x, y),
                             select(p > 1.0 && !(p == 2.0), x, 1.0)})
    EXPECT_EQ(degree(linear), smoothness::linear);
  for (const auto& smooth :
       {x * y, p / x, sin(x), pow(x, p), fma(x, y, p), derivative(x, 1), select(p > 1.0, x * y, x)})
    EXPECT_EQ(degree(smooth), smoothness::smooth);
  for (const auto& piecewise :
       {abs(x), min(x, y), max(x, p), floor(x), sign(y), copysign(x, y), sin(abs(x)), select(x > y, x, y),
        select(x > 0.0 || p > 1.0, p, x), select(sin(x) > p, 1.0, 2.0), x * round(y), derivative(abs(x), 2)})
    EXPECT_EQ(degree(piecewise), smoothness::piecewise);
}

TEST(Degree, IsUnknownWhereAModelBranches) {
  const auto x = saltus::graded::input(0, 0.5);
  saltus::has_branched = false;
  EXPECT_EQ(select(x > 0.0, x, x).value.v, 0.5);
  EXPECT_FALSE(saltus::has_branched);
  EXPECT_TRUE(any(x > 0.0));
  EXPECT_TRUE(saltus::has_branched);
}

}  // namespace
