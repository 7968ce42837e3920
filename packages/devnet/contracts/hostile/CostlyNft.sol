// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// Looks for an owner so long that a limited call runs out of gas; behind a proxy that shows as a revert.
contract CostlyNft is TokenLogs {
    string public constant name = "Costly";
    string public constant symbol = "COST";

    function mint(address to, uint256 id) external {
        logUnique(address(0), to, id);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }

    function ownerOf(uint256) external pure returns (address) {
        while (true) {}
        return address(0);
    }
}
