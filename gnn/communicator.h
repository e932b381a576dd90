#pragma once
/// Data parallelism: several processes train the same model on shares of each
/// batch and add their gradients up. The trainer sees only this interface.
#include <cstddef>
#include <span>

namespace perfc {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::size_t rank() const = 0;  ///< 0..size() − 1; rank 0 writes the files
  virtual std::size_t size() const = 0;
  /// Replaces each entry by its sum over all ranks, the same bits everywhere.
  virtual void sum(std::span<float>) = 0;
  virtual void sum(std::span<double>) = 0;
};

/// One process: nothing to add.
class SingleProcess final : public Communicator {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void sum(std::span<float>) override {}
  void sum(std::span<double>) override {}
};

}  // namespace perfc
