#pragma once
/// A stack inside of other JSON: a file of stacks, or a device.
#include "devices/entries.h"
#include "devices/stack.h"

namespace perfc {

inline constexpr EntryKind kStackEntries{
    .one = "stack", .file = "data/stacks.json", .origin = "perfc devices --stacks --json shows the format"};

/// An object with a stack's fields, at `path` of its file; what is wrong is reported.
Stack read_stack(const json::Element&, const std::string& path, Diagnostics&);

}  // namespace perfc
