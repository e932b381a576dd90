#include "cli/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/cli.h"

namespace perfc::cli {

namespace {

class Alone final : public Ranks {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void sum(std::span<float>) override {}
  void sum(std::span<double>) override {}
  void tell_all(std::string&) override {}
  void send(std::string) override {}
  std::optional<std::string> received(Look) override { return std::nullopt; }
  void part() override {}
  int stop(int code) override { return code; }
};

}  // namespace

int with_ranks(const std::function<int(Ranks&)>& body) {
  Alone alone;
  return body(alone);
}

int join_ranks(int argc, char** argv) {
  // Set by Open MPI's mpirun for the processes that it starts.
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (size == nullptr || std::string_view(size) == "1" || (verb != "train" && verb != "sweep")) return 0;
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (own.parent_path() / "perfc-mpi").string();
  ::execv(program.c_str(), argv);
  return fail(
      kBadInput,
      fmt::format(
          "{} processes want to {} together, but {} cannot be started: {}; build perfc with Open MPI (docs/gnn.md)",
          size, verb, program, std::strerror(errno)));
}

}  // namespace perfc::cli
