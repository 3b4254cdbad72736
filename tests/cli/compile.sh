# SPDX-License-Identifier: Apache-2.0
# Every kernel program is OpenCL C for clang too, as is and as oclgrind gets it, and CUDA where there is nvcc.
check=$(realpath "$(dirname "$0")/../../cmake/check-kernels.sh")
. "$(dirname "$0")/lib.sh"
[ -z "${MILL_SANITIZE:-}" ] || exit 77	# says nothing new there
command -v clang >/dev/null || exit 77

"$check" "$millrace"
rc=$?
[ $rc != 77 ] || exit 77
must [ $rc = 0 ]
done_testing
