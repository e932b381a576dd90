// cli/ranks.h with Open MPI.
#include "cli/ranks.h"

#include <mpi.h>

#include <algorithm>

namespace perfc::cli {

namespace {

/// Sums to rank 0, which sends the result to all: the same bits everywhere. MPI
/// takes counts as int, hence the pieces. An error inside MPI ends all ranks.
template <class T>
void sum_over_ranks(std::span<T> values, MPI_Datatype type, int rank) {
  constexpr std::size_t kPiece = std::size_t{1} << 28;
  for (std::size_t begin = 0; begin < values.size(); begin += kPiece) {
    T* const data = values.data() + begin;
    const auto count = static_cast<int>(std::min(kPiece, values.size() - begin));
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : data, data, count, type, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, count, type, 0, MPI_COMM_WORLD);
  }
}

class MpiRank final : public Communicator {
 public:
  MpiRank() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }
  void sum(std::span<float> v) override { sum_over_ranks(v, MPI_FLOAT, rank_); }
  void sum(std::span<double> v) override { sum_over_ranks(v, MPI_DOUBLE, rank_); }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace

int with_ranks(const std::function<int(Communicator&)>& body) {
  MPI_Init(nullptr, nullptr);
  MpiRank rank;
  const int code = body(rank);
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);  // the others may wait for this one
  MPI_Finalize();
  return code;
}

int join_ranks(int, char**) { return 0; }

}  // namespace perfc::cli
