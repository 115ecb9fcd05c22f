-- Side by side: INDEX sign_in_link_personal_token_id_idx on sign_in_link: no server of the release before writes sign-in links
-- Side by side: FOREIGN KEY sign_in_link_personal_token_id_fkey keeps rows of personal_token: no server deletes a personal token, so none is kept that would go

-- AlterTable
ALTER TABLE "sign_in_link" ADD COLUMN     "personal_token_id" UUID;

-- CreateIndex
CREATE INDEX "sign_in_link_personal_token_id_idx" ON "sign_in_link"("personal_token_id");

-- AddForeignKey
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_personal_token_id_fkey" FOREIGN KEY ("personal_token_id") REFERENCES "personal_token"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
