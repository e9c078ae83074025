// saltus-mpi: the same bits as one process on any number of ranks, also if a rank is killed.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "variables_of.hpp"

namespace {

using namespace command_line;

class Mpi : public cli {
 protected:
  /// 3000 balls with everything kept, or with statistics only.
  static words what(const std::string& output, const std::string& to) {
    return {"run",
            "bouncing_ball",
            "-q",
            "--seed",
            "5",
            "-n",
            "3000",
            "--set",
            "sample.restitution={uniform=[0.3, 0.9]}",
            "--set",
            "t=[0.0, 3.0]",
            "--set",
            "output=" + output,
            "--set",
            "run={chunk=100, checkpoint=0.0001}",
            "-o",
            to};
  }
  static constexpr const char* rows = "{samples={count=5}, events=true, statistics=true}";
  static constexpr const char* no_rows =
      "{rows=false, statistics=true, histogram={t_final={from=0.0, to=3.0, bins=5}}}";

  std::unique_ptr<child> begin(int ranks, const words& line) const {
    words all{"--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks), SALTUS_MPI_PROGRAM};
    all.insert(all.end(), line.begin(), line.end());
    return std::make_unique<child>(on_path("mpirun"), all, folder(),
                                   setting{{"SALTUS_CACHE", shared_cache()},
                                           {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                           {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                           {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                           {"OMPI_MCA_mpi_yield_when_idle", "1"}},
                                   "");
  }
  outcome mpi(int ranks, const words& line) const { return begin(ranks, line)->wait(); }
};

TEST_F(Mpi, HasTheBitsOfOneProcessOnAnyNumberOfRanks) {
  for (const char* output : {rows, no_rows}) {
    fs::remove(folder() / "one.nc");
    ASSERT_EQ(saltus(what(output, "one.nc")).code, 0);
    const auto whole = variables_of(folder() / "one.nc");
    for (const int ranks : {1, 2, 3}) {
      const auto o = mpi(ranks, what(output, "many.nc"));
      ASSERT_EQ(o.code, 0) << o.out << o.err;
      EXPECT_EQ(whole, variables_of(folder() / "many.nc")) << ranks;
      EXPECT_FALSE(fs::exists(folder() / "many.nc.journal"));
      fs::remove(folder() / "many.nc");
    }
  }
}

/// SALTUS_KILLS sets the number of kills.
TEST_F(Mpi, GoesOnWithAnyNumberOfRanksWhenOneWasKilled) {
  const char* const asked = std::getenv("SALTUS_KILLS");
  const int most = asked ? std::atoi(asked) : 6;
  ASSERT_EQ(saltus(what(rows, "one.nc")).code, 0);
  const auto whole = variables_of(folder() / "one.nc");
  int kills = 0, results = 0;
  for (int round = 0; kills < most; ++round) {
    const int ranks = round % 3 == 0 ? 2 : round % 3 == 1 ? 3 : 1;
    const auto job = begin(ranks, what(rows, "many.nc"));
    // Kills one of the ranks after the journal has grown for a while.
    const auto kept = [&] {
      std::uintmax_t bytes = 0;
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(folder() / "many.nc.journal", none))
        if (entry.path().filename().string().starts_with("chunks")) bytes += entry.file_size(none) + (none ? 1 : 0);
      return bytes;
    };
    const auto before = kept() + static_cast<std::uintmax_t>(20000 + 7919 * (round % 9));
    const bool grew = job->wait_for([&] { return kept() > before && kept() < 1u << 30; });
    if (const auto all = job->started(); grew && !all.empty())
      ::kill(all[static_cast<std::size_t>(round) % all.size()], SIGKILL);
    const auto o = job->wait();
    if (o.code != 0) {
      ++kills;
      EXPECT_FALSE(fs::exists(folder() / "many.nc"));
      continue;
    }
    EXPECT_EQ(whole, variables_of(folder() / "many.nc")) << round;
    fs::remove(folder() / "many.nc");
    ++results;
  }
  const auto last = mpi(2, what(rows, "many.nc"));
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(whole, variables_of(folder() / "many.nc"));
  fmt::print("mpi: {} kills, {} results\n", kills, results + 1);
}

TEST_F(Mpi, TellsWhatIsWrongOnceAndDoesNotHang) {
  const auto o = mpi(3, {"run", "bouncing_ball", "--set", "nonsense=1", "-o", "x.nc"});
  EXPECT_EQ(o.code, 2) << o.err;
  const auto first = o.err.find("nonsense");
  ASSERT_NE(first, o.err.npos) << o.err;
  EXPECT_EQ(o.err.find("saltus-mpi: ", o.err.find("saltus-mpi: ") + 1), o.err.npos) << o.err;
  EXPECT_EQ(mpi(2, {"run", "bouncing_ball"}).code, 2) << "the command names no result";
}

}  // namespace
