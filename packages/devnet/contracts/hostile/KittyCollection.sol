// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A collection from before ERC-721, in the way of CryptoKitties: nothing in its logs is indexed, and it has neither
/// `tokenURI` nor ERC-165.
contract KittyCollection {
    string public constant name = "Old Kitties";
    string public constant symbol = "OK";
    mapping(address holder => uint256) public balanceOf;
    mapping(uint256 id => address) public ownerOf;

    event Transfer(address from, address to, uint256 tokenId);

    function mint(address to, uint256 id) external {
        balanceOf[to]++;
        ownerOf[id] = to;
        emit Transfer(address(0), to, id);
    }

    function transfer(address to, uint256 id) external {
        require(ownerOf[id] == msg.sender, "not yours");
        balanceOf[msg.sender]--;
        balanceOf[to]++;
        ownerOf[id] = to;
        emit Transfer(msg.sender, to, id);
    }
}
