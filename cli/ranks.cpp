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

int with_ranks(const std::function<int(Communicator&)>& body) {
  SingleProcess alone;
  return body(alone);
}

int join_ranks(int argc, char** argv) {
  // Set by Open MPI's mpirun for the processes that it starts.
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size == nullptr || std::string_view(size) == "1" || argc < 2 || std::string_view(argv[1]) != "train") return 0;
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (own.parent_path() / "perfc-mpi").string();
  ::execv(program.c_str(), argv);
  return fail(
      kBadInput,
      fmt::format(
          "{} processes want to train together, but {} cannot be started: {}; build perfc with Open MPI (docs/gnn.md)",
          size, program, std::strerror(errno)));
}

}  // namespace perfc::cli
