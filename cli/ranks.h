#pragma once
/// Under mpirun, several processes train as one. `perfc` itself does not link MPI,
/// so that it starts as fast as ever: started by mpirun it becomes `perfc-mpi`,
/// the same program with cli/ranks_mpi.cpp in the place of cli/ranks.cpp.
#include <functional>

#include "gnn/communicator.h"

namespace perfc::cli {

/// Calls `body` with this process's place among the ranks; returns its result.
int with_ranks(const std::function<int(Communicator&)>& body);

/// Called first in main: in a process of mpirun that wants to train, replaces it by
/// perfc-mpi. Returns an exit code where that fails, 0 to go on.
int join_ranks(int argc, char** argv);

}  // namespace perfc::cli
