// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {HonestToken} from "./HonestToken.sol";

/// Every balance changes at once, and no log tells of it.
contract RebasingToken is HonestToken {
    uint256 public numerator = 1;
    uint256 public denominator = 1;

    constructor(string memory name_, string memory symbol_) HonestToken(name_, symbol_, 18) {}

    function rebase(uint256 numerator_, uint256 denominator_) external {
        numerator = numerator_;
        denominator = denominator_;
    }

    function balanceOf(address holder) public view override returns (uint256) {
        return balances[holder] * numerator / denominator;
    }
}
