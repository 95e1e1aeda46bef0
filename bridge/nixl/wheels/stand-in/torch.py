# SPDX-License-Identifier: Apache-2.0
"""NIXL's Python side of releases before 1.4 imports torch, for this one class. Nothing here has a tensor."""


class Tensor:
    pass
