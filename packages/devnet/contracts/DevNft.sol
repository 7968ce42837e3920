// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";

/// A collection anyone may mint into, with a metadata URI of its own for every id.
contract DevNft is ERC721URIStorage {
    constructor(string memory name_, string memory symbol_) ERC721(name_, symbol_) {}

    function mint(address to, uint256 id, string calldata uri) external {
        _mint(to, id);
        _setTokenURI(id, uri);
    }

    function setTokenURI(uint256 id, string calldata uri) external {
        _setTokenURI(id, uri);
    }

    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }
}
