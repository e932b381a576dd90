#pragma once
/// Under mpirun, several processes train, or sweep, as one. `perfc` itself does not link MPI,
/// so that it starts as fast as ever: started by mpirun it becomes `perfc-mpi`,
/// the same program with cli/ranks_mpi.cpp in the place of cli/ranks.cpp.
#include <functional>
#include <optional>
#include <string>

#include "gnn/communicator.h"

namespace perfc::cli {

/// A process's place among those that mpirun started, and what they tell each other. Threads may call it in turn.
class Ranks : public Communicator {
 public:
  /// Gives rank 0's text to all.
  virtual void tell_all(std::string& text) = 0;
  /// To rank 0; does not wait until it looks.
  virtual void send(std::string text) = 0;
  enum class Look { Once, UntilThere };
  /// Rank 0: what another sent, each rank's in the order in which it was sent.
  virtual std::optional<std::string> received(Look) = 0;
  /// Waits until all ranks have come here: nobody waits for another any more, whatever code each returns.
  virtual void part() = 0;
  /// Ends the other ranks, wherever they are, and this one with `code`.
  virtual int stop(int code) = 0;
};

/// Calls `body` with this process's place among the ranks; returns its result. A code other than 0 ends all ranks,
/// unless they have parted.
int with_ranks(const std::function<int(Ranks&)>& body);

/// Called first in main: in a process of mpirun that wants to train or sweep, replaces it by
/// perfc-mpi. Returns an exit code where that fails, 0 to go on.
int join_ranks(int argc, char** argv);

}  // namespace perfc::cli
