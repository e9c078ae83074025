// A small hunt: tens of thousands of random guards with known roots, each over one long step (hunt.hpp). bench/hunt.cpp does the
// same with 10^8.
#include <gtest/gtest.h>

#include "testing/dynamic_hunt.hpp"

namespace {

using namespace saltus::test;

class Certified : public testing::TestWithParam<const char*> {};

// No root of odd multiplicity is missed or fires twice, all fire in order and at their times; a touch and a near miss never
// fire.
TEST_P(Certified, MissesNothingAndRepeatsNothing) {
  hunter hunt(GetParam(), "certified", 2);
  for (const auto s : all_shapes) {
    const auto b = hunt(s, s == shape::scattered || s == shape::near_miss ? 10000 : 2000, 1);
    EXPECT_EQ(b.missed, 0) << name_of(s);
    EXPECT_EQ(b.repeated, 0) << name_of(s);
    EXPECT_EQ(b.out_of_order, 0) << name_of(s);
    EXPECT_EQ(b.late, 0) << name_of(s);
    EXPECT_EQ(b.failed, 0) << name_of(s);
    if (b.all_wrong() != 0) ADD_FAILURE() << "for example case " << b.wrong.front() << " of " << name_of(s);
  }
}

INSTANTIATE_TEST_SUITE_P(Hunt, Certified, testing::Values("dp5", "bs3", "dop853"));

// The same for guards of one direction, whose opposite crossings are no events.
TEST_P(Certified, MissesNothingOfGuardsOfOneDirection) {
  hunter hunt(GetParam(), "certified", 2, 1.0, heard::one_way);
  for (const auto s : all_shapes) {
    const auto b = hunt(s, 2000, 1);
    EXPECT_EQ(b.all_wrong(), 0) << name_of(s) << " missed " << b.missed << " repeated " << b.repeated
                                << " out_of_order " << b.out_of_order << " late " << b.late << " failed " << b.failed
                                << (b.wrong.empty() ? "" : fmt::format(", for example {}", b.wrong.front()));
    EXPECT_GT(2 * b.events, b.cases / 2) << name_of(s);
  }
}

// The cubic through values and derivatives at the ends equals a guard of degree up to 3, so nothing is missed there. With higher
// degrees some roots are missed, but those found are right. (After a missed root, a later touch may be taken for it.)
void expect_no_root_of_a_cubic_missed(hunter&& hunt, bool in_one_direction) {
  for (const auto s : all_shapes) {
    const auto b = hunt(s, 10000, 1);
    EXPECT_EQ(b.repeated, 0) << name_of(s);
    EXPECT_EQ(b.out_of_order, 0) << name_of(s);
    EXPECT_LE(b.late, s == shape::touch || s == shape::two_guards ? 10 : 0) << name_of(s);
    EXPECT_EQ(b.failed, 0) << name_of(s);
    for (std::size_t degree = 1; degree <= 3 && s == shape::scattered; ++degree) EXPECT_EQ(b.missed_of[degree], 0);
    if (in_one_direction) EXPECT_LT(b.missed, b.cases / 4) << name_of(s);  // no step begins anew between events
  }
}

TEST(Hermite, MissesNoRootOfACubicAndInventsNone) { expect_no_root_of_a_cubic_missed({"dp5", "hermite", 2}, false); }

TEST(Hermite, MissesNoRootOfACubicInOneDirection) {
  expect_no_root_of_a_cubic_missed({"dp5", "hermite", 2, 1.0, heard::one_way}, true);
}

// Along a series, a polynomial guard is its own series: no root is missed, except pairs 1e-8 of the step apart, between which the
// guard is zero within rounding.
TEST(Series, MissesNoRootOfAPolynomial) {
  hunter hunt("taylor12", "hermite", 2);
  for (const auto s : all_shapes) {
    const auto b = hunt(s, 10000, 1);
    const bool has_pairs = s == shape::pair || s == shape::triple || s == shape::two_guards;
    EXPECT_LE(b.missed, has_pairs ? 200 : 0) << name_of(s);
    EXPECT_EQ(b.repeated, 0) << name_of(s);
    EXPECT_EQ(b.out_of_order, 0) << name_of(s);
    EXPECT_EQ(b.late, 0) << name_of(s);
    EXPECT_EQ(b.failed, 0) << name_of(s);
  }
}
TEST(Series, MissesNoRootOfAPolynomialInOneDirection) {
  hunter hunt("taylor12", "hermite", 2, 1.0, heard::one_way);
  for (const auto s : all_shapes) {
    const auto b = hunt(s, 10000, 1);
    const bool has_pairs = s == shape::pair || s == shape::triple || s == shape::two_guards;
    EXPECT_LE(b.missed, has_pairs ? 300 : 0) << name_of(s);
    EXPECT_EQ(b.all_wrong() - b.missed, 0) << name_of(s);
  }
}
TEST(Series, MissesLittleAlongSolutionsWithAnErrorAndNothingWhereItIsCertified) {
  for (const char* method : {"taylor8", "taylor16"}) {
    for (const bool certified : {false, true}) {
      auto hunt =
          dynamic_hunt<oscillator_prey>("oscillating_guards", method, certified ? "certified" : "hermite", 1e-6, 2);
      for (const auto d : all_dynamics) {
        const auto b = hunt(oscillator_prey(d, 1e-6, 1), 2000);
        EXPECT_LE(b.missed, certified ? 0 : 60) << method << " " << name_of(d);
        EXPECT_EQ(b.all_wrong() - b.missed, 0)
            << method << " " << name_of(d) << " repeated " << b.repeated << " out_of_order " << b.out_of_order
            << " late " << b.late << " failed " << b.failed;
        EXPECT_GT(b.events, b.cases) << method << " " << name_of(d);
      }
    }
  }
}

// Guards along solutions with an error: every event is found if that error does not decide about it.
TEST(Dynamics, CertifiedMissesNothingAndRepeatsNothing) {
  for (const char* method : {"dp5", "dop853", "rdpk510", "bs3"}) {
    auto hunt = dynamic_hunt<oscillator_prey>("oscillating_guards", method, "certified", 1e-6, 2);
    for (const auto d : all_dynamics) {
      const auto b = hunt(oscillator_prey(d, 1e-6, 1), 2000);
      EXPECT_EQ(b.all_wrong(), 0) << method << " " << name_of(d) << " missed " << b.missed << " repeated " << b.repeated
                                  << " out_of_order " << b.out_of_order << " late " << b.late << " failed " << b.failed
                                  << (b.wrong.empty() ? "" : fmt::format(", for example {}", b.wrong.front()));
      EXPECT_LT(b.open, b.cases / 20) << method << " " << name_of(d);
      EXPECT_GT(b.events, b.cases) << method << " " << name_of(d);
    }
  }
}

TEST(Dynamics, CertifiedMissesNothingOfGuardsOfOneDirection) {
  for (const char* method : {"dp5", "dop853", "esdirk4"}) {
    auto hunt = dynamic_hunt<oscillator_prey>("one_way_oscillator", method, "certified", 1e-6, 2);
    for (const auto d : all_dynamics) {
      const auto b = hunt(oscillator_prey(d, 1e-6, 1, heard::one_way), 2000);
      EXPECT_EQ(b.all_wrong(), 0) << method << " " << name_of(d) << " missed " << b.missed << " repeated " << b.repeated
                                  << " late " << b.late << " failed " << b.failed
                                  << (b.wrong.empty() ? "" : fmt::format(", for example {}", b.wrong.front()));
      EXPECT_GT(2 * b.events, b.cases) << method << " " << name_of(d);
    }
  }
}

// An explicit method at its limit of stability: the interpolant, a shorter step and a move along the slope differ. No threshold
// fires twice or before it is reached, and no wall is passed.
TEST(Dynamics, SlowThresholdsBesideAFastModeFireOnceAndNotBefore) {
  for (const char* method : {"dp5", "tsit5", "bs3", "rkf45", "rkf78", "dop853", "rdpk510", "taylor12"}) {
    auto hunt = dynamic_hunt<slow_prey>("slow_guard", method, "hermite", 1e-6, 2);
    const auto b = hunt(slow_prey(1e-6, 1), 4000);
    EXPECT_EQ(b.all_wrong(), 0) << method << " missed " << b.missed << " repeated " << b.repeated << " wrong side "
                                << b.wrong_side << " out_of_order " << b.out_of_order << " failed " << b.failed
                                << (b.wrong.empty() ? "" : fmt::format(", for example {}", b.wrong.front()));
    EXPECT_LT(b.open, b.cases / 20) << method;
  }
}

// The hunt itself: a miss that it reports is a miss.
TEST(Hunt, KnowsItsRoots) {
  for (std::uint64_t number = 0; number < 200; ++number) {
    EXPECT_TRUE(make_case(shape::touch, 3, number).guard[0].degree >= 2);
    const auto c = make_case(shape::triple, 3, number);
    double previous = 0.0;
    for (const auto& e : c.expected) {
      EXPECT_GE(e.time, previous);
      previous = e.time;
      // The polynomial changes sign there: an odd number of its roots is at that time.
      int roots = 0;
      for (int i = 0; i < c.guard[e.guard].degree; ++i)
        roots += c.guard[e.guard].root[static_cast<std::size_t>(i)] == e.time;
      EXPECT_EQ(roots % 2, 1);
    }
  }
}

}  // namespace
