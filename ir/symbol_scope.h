#pragma once
/// Names of dims, for programs that read files for ever.

namespace perfc {

/// While it lives, symbols (`SymInt::symbol`) that this thread meets for the first time are its own, and their names go
/// with it. Nothing that holds such a symbol may outlive it or be read by another thread. A thread has one at a time.
class SymbolScope {
 public:
  SymbolScope();
  ~SymbolScope();
  SymbolScope(const SymbolScope&) = delete;
  SymbolScope& operator=(const SymbolScope&) = delete;
};

}  // namespace perfc
