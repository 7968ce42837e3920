// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// A multi-token contract anyone may mint into. Ids share the `{id}` template unless given a URI of their own.
contract DevMultiToken is ERC1155 {
    string public name;
    string public symbol;
    mapping(uint256 id => string) private ownUri;

    constructor(string memory name_, string memory symbol_, string memory template) ERC1155(template) {
        name = name_;
        symbol = symbol_;
    }

    function uri(uint256 id) public view override returns (string memory) {
        string memory own = ownUri[id];
        return bytes(own).length > 0 ? own : super.uri(id);
    }

    function setURI(uint256 id, string calldata value) external {
        ownUri[id] = value;
        emit URI(value, id);
    }

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external {
        _mintBatch(to, ids, amounts, "");
    }

    function burn(uint256 id, uint256 amount) external {
        _burn(msg.sender, id, amount);
    }
}
