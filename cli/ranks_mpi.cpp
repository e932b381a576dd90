// cli/ranks.h with Open MPI.
#include "cli/ranks.h"

#include <mpi.h>

#include <algorithm>
#include <list>

#include "cli/cli.h"

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

class MpiRank final : public Ranks {
 public:
  MpiRank() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }
  void sum(std::span<float> v) override { sum_over_ranks(v, MPI_FLOAT, rank_); }
  void sum(std::span<double> v) override { sum_over_ranks(v, MPI_DOUBLE, rank_); }

  void tell_all(std::string& text) override {
    auto length = static_cast<unsigned long long>(text.size());
    MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    text.resize(length);
    for (std::size_t at = 0; at < text.size(); at += kMost)
      MPI_Bcast(text.data() + at, static_cast<int>(std::min(kMost, text.size() - at)), MPI_CHAR, 0, MPI_COMM_WORLD);
  }

  void send(std::string text) override {
    Sent& sent = sent_.emplace_back(Sent{std::move(text), MPI_REQUEST_NULL});
    MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD, &sent.request);
    for (int done = 1; !sent_.empty();) {
      MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
      if (!done) break;
      sent_.pop_front();
    }
  }

  std::optional<std::string> received(Look look) override {
    int there = 1;
    MPI_Status status;
    if (look == Look::UntilThere) MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    else MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    if (!there) return std::nullopt;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string text(static_cast<std::size_t>(length), 0);
    MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return text;
  }

  void part() override {
    for (Sent& s : sent_) MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    sent_.clear();
    MPI_Barrier(MPI_COMM_WORLD);
    parted_ = true;
  }
  bool parted() const { return parted_; }

  int stop(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 28;
  struct Sent {
    std::string text;
    MPI_Request request;
  };
  int rank_ = 0, size_ = 1;
  bool parted_ = false;
  std::list<Sent> sent_;  ///< and not yet known to have left
};

}  // namespace

int with_ranks(const std::function<int(Ranks&)>& body) {
  int threads = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  MpiRank rank;
  if (threads < MPI_THREAD_SERIALIZED && rank.size() > 1)
    return rank.stop(fail(kBadInput, "this MPI is not for programs with threads (MPI_THREAD_SERIALIZED)"));
  const int code = body(rank);
  if (code != 0 && !rank.parted()) return rank.stop(code);  // the others may wait for this one
  MPI_Finalize();
  return code;
}

int join_ranks(int, char**) { return 0; }

}  // namespace perfc::cli
