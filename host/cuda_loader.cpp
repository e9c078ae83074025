#include "backend.hpp"
#include "error.hpp"
namespace saltus::host {
std::string cuda_absent(std::string*) { return "no plug-in"; }
std::unique_ptr<backend> make_cuda_backend(const plan&) { throw error(exit_device, "no CUDA device: " + cuda_absent()); }
}
