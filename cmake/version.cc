// The version of the shared library, for those who load it.
namespace phi {
const char* version();
const char* version() { return AUTOPHI_VERSION; }
}  // namespace phi
