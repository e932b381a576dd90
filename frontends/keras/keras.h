#pragma once
/// The front end of Keras 3 archives (.keras); docs/keras.md.
#include <string_view>
#include <vector>

#include "frontends/frontend.h"

namespace perfc::keras {

/// A zip archive whose first members are Keras's.
bool sniff(std::string_view head);
/// Of the archive, config.json alone is read: the layers with their settings and how they feed each other.
Result<Graph> import_archive(const Source&, const ImportOptions&, Diagnostics&);
std::vector<OpCoverage> coverage();

}  // namespace perfc::keras
