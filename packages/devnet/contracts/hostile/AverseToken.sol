// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// Refuses to be asked by contracts, so that whoever reads many tokens in one call sees nothing.
contract AverseToken is TokenLogs {
    string public constant name = "Averse";
    string public constant symbol = "AVS";
    uint8 public constant decimals = 2;
    address private immutable holder;
    bool private immutable isCollection;

    constructor(address holder_, bool isCollection_) {
        holder = holder_;
        isCollection = isCollection_;
        if (isCollection_) logUnique(address(0), holder_, 1);
        else logFungible(address(0), holder_, 1000);
    }

    modifier notForContracts() {
        require(msg.sender == tx.origin && msg.sender.code.length == 0, "no contracts");
        _;
    }

    function balanceOf(address account) external view notForContracts returns (uint256) {
        if (account != holder) return 0;
        return isCollection ? 1 : 1000;
    }

    function ownerOf(uint256) external view notForContracts returns (address) {
        require(isCollection);
        return holder;
    }

    function tokenURI(uint256) external view notForContracts returns (string memory) {
        return "data:application/json,{}";
    }

    function supportsInterface(bytes4 id) external view returns (bool) {
        return id == 0x01ffc9a7 || (isCollection && id == 0x80ac58cd);
    }
}
