#include "interp/control/run_site.hpp"

#include <utility>

namespace taskspec {

namespace {

thread_local const RunSite* site_here = nullptr;

}  // namespace

const RunSite* RunSite::current() { return site_here; }

RunSite::Mark::Mark(const RunSite& site) : site_(site), outer_(std::exchange(site_here, &site_)) {}
RunSite::Mark::~Mark() { site_here = outer_; }

}  // namespace taskspec
