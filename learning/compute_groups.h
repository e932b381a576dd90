#pragma once
/// Families that compute the same. A name says little: vit, deit and beit are one network, legacy_seresnext50 is a
/// resnet, and who is judged on one after learning from another is judged on what it saw.
#include <map>
#include <span>
#include <string>

#include "features/kernel_graph.h"

namespace perfc {

/// A network's products and convolutions, as one of its runs has them.
struct ComputedNetwork {
  std::string architecture, family;
  const KernelGraph* graph = nullptr;
  double batch = 1;
};

/// From this share of a network's products and convolutions on, equal by kind and shape per image, another is its twin.
inline constexpr double kTwinShare = 0.5;
/// From this share of its networks on, a family whose networks have twins in another computes the same.
inline constexpr double kTwinnedFamily = 0.25;

/// Of every family the first, by name, of those that it computes the same as, itself if there is none. Computing the
/// same is transitive. One network per architecture; more are ignored.
std::map<std::string, std::string> compute_groups(std::span<const ComputedNetwork>);

}  // namespace perfc
