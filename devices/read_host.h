#pragma once
/// A host inside of other JSON: a file of hosts, or a device.
#include "devices/entries.h"
#include "devices/host.h"

namespace perfc {

inline constexpr EntryKind kHostEntries{
    .one = "host", .file = "data/hosts.json", .origin = "python -m perfc.measure --host"};

/// An object with a host's fields, at `path` of its file; what is wrong is reported.
Host read_host(const json::Element&, const std::string& path, Diagnostics&);

}  // namespace perfc
