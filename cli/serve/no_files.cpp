#include "cli/serve/no_files.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ir/support/output_file.h"

namespace perfc::cli {

bool open_no_more_files() {
  // Everything that the first version of Landlock's interface knows; no rule allows any of it.
  const landlock_ruleset_attr everything{.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
  const Descriptor rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &everything, sizeof everything, 0)));
  return rules && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
}

}  // namespace perfc::cli
