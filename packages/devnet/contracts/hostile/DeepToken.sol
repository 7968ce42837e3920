// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// Finds its answer at the end of a chain of calls to itself. Each leaves a 64th of its gas behind (EIP-150).
contract DeepToken is TokenLogs {
    string public constant name = "Deep";
    string public constant symbol = "DEEP";
    uint8 public constant decimals = 0;
    address private immutable holder;
    uint256 private immutable depth;

    constructor(address holder_, uint256 depth_) {
        holder = holder_;
        depth = depth_;
        logFungible(address(0), holder_, 1000);
    }

    function balanceOf(address account) external view returns (uint256) {
        return this.dive(account, depth);
    }

    function dive(address account, uint256 left) external view returns (uint256) {
        if (left > 0) return this.dive(account, left - 1);
        return account == holder ? 1000 : 0;
    }
}
