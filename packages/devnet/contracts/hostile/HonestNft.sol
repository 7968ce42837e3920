// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// A collection as it should be; anyone may mint. `ownerOf` reverts for an id that was burnt, as EIP-721 wants it.
contract HonestNft is TokenLogs {
    error NoSuchToken(uint256 id);

    string public name;
    string public symbol;
    mapping(address holder => uint256) public balanceOf;
    mapping(uint256 id => address) internal owners;
    mapping(uint256 id => string) internal uris;

    constructor(string memory name_, string memory symbol_) {
        name = name_;
        symbol = symbol_;
    }

    function supportsInterface(bytes4 id) external pure virtual returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f;
    }

    function ownerOf(uint256 id) public view returns (address) {
        if (owners[id] == address(0)) revert NoSuchToken(id);
        return owners[id];
    }

    function tokenURI(uint256 id) external view returns (string memory) {
        ownerOf(id);
        return uris[id];
    }

    function mint(address to, uint256 id, string calldata uri) external {
        uris[id] = uri;
        set(address(0), to, id);
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(owners[id] == from && msg.sender == from, "not yours");
        set(from, to, id);
    }

    function burn(uint256 id) external {
        set(ownerOf(id), address(0), id);
    }

    function set(address from, address to, uint256 id) private {
        if (from != address(0)) balanceOf[from]--;
        if (to != address(0)) balanceOf[to]++;
        owners[id] = to;
        logUnique(from, to, id);
    }
}
